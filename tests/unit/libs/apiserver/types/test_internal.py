from libs.apiserver.types.internal import difference, internal


def test_every_field_stands_in_gos_order_with_its_zero() -> None:
    assert internal("core/v1.Toleration", {"key": "k", "operator": "Exists"}) == {
        "Key": "k",
        "Operator": "Exists",
        "Value": "",
        "Effect": "",
        "TolerationSeconds": None,
    }


def test_what_a_pod_shares_with_its_host_is_in_its_security_context() -> None:
    spec = internal("core/v1.PodSpec", {"hostNetwork": True, "containers": []})

    assert spec["SecurityContext"]["HostNetwork"] is True
    assert "HostNetwork" not in spec


def test_selectors_keep_their_names() -> None:
    claim = internal("core/v1.PersistentVolumeClaimSpec", {"selector": {"matchLabels": {"a": "b"}}})

    assert claim["Selector"] == {"matchLabels": {"a": "b"}}


def test_a_difference_shows_three_lines_around_a_change() -> None:
    before = {"resources": {"requests": {"storage": "1Gi"}}, "accessModes": ["ReadWriteOnce"]}
    after = {**before, "volumeName": "v"}

    assert difference("core/v1.PersistentVolumeClaimSpec", before, after) == (
        "@@ -9,7 +9,7 @@\n"
        '    "storage": "1Gi"\n'
        "   }\n"
        "  },\n"
        '- "VolumeName": "",\n'
        '+ "VolumeName": "v",\n'
        '  "StorageClassName": null,\n'
        '  "VolumeMode": null,\n'
        '  "DataSource": null,\n'
    )
