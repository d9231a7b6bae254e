"""Validation of a pod's volumes.

Source: Kubernetes API reference, Volume and its sources; order and wordings as recorded from
kube-apiserver 1.36. Sources that no code runs any more (Quobyte, Flocker, ...) are taken as they
come.
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import (
    Stored,
    file_mode,
    formed,
    formed_if_present,
    in_range,
    no_backsteps,
    one_of,
    present,
)
from libs.apiserver.field_errors import (
    FieldError,
    duplicate,
    not_allowed,
    required,
    too_long,
    wrong,
)
from libs.apiserver.metadata import validate_template
from libs.apiserver.rules import claims
from libs.apiserver.rules.projections import validate_files, validate_items, validate_projected
from libs.domain import quantity_text

Check = Callable[[Stored, str], Iterator[FieldError]]
_PARTITIONS = (0, 255)
_PATH_TYPES = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
_SIZE = "SizeLimit field must be a valid resource quantity"
_OWN_CLAIM = "must not reference a PVC that gets created for an ephemeral volume"


def validate_volumes(
    volumes: Any, at: str, pod_name: str = ""
) -> tuple[Mapping[str, Stored], list[FieldError]]:
    """Return the volumes that are right, by name, and what is wrong with the others.

    Args:
        volumes: those of a pod spec.
        at: their path.
        pod_name: the pod's, empty in a template; ephemeral claims are named after it.
    """
    usable: dict[str, Stored] = {}
    errors: list[FieldError] = []
    created = {f"{pod_name}-{one.get('name', '')}" for one in volumes if "ephemeral" in one}
    for index, volume in enumerate(volumes):
        where, name = f"{at}[{index}]", volume.get("name", "")
        found = list(_validate_volume(volume, where, pod_name))
        if name in usable:
            found.append(duplicate(f"{where}.name", name))
        if not found:
            usable[name] = volume
        claim = (volume.get("persistentVolumeClaim") or {}).get("claimName")
        if pod_name and claim in created:
            found.append(wrong(f"{where}.persistentVolumeClaim.claimName", claim, _OWN_CLAIM))
        errors += found
    return usable, errors


def _validate_volume(volume: Stored, at: str, pod_name: str) -> Iterator[FieldError]:
    name = volume.get("name", "")
    sources = sorted((field for field in volume if field != "name"), key=_ORDER.index)
    for source in sources[:1]:
        check = _SOURCES.get(source, _as_it_comes)
        yield from check(volume[source], f"{at}.{_PATHS.get(source, source)}")
    for extra in sources[1:]:
        yield not_allowed(f"{at}.{extra}", "may not specify more than 1 volume type")
    if not sources:
        yield required(at, "must specify a volume type")
    if "ephemeral" in volume and pod_name and name:
        claim = f"{pod_name}-{name}"
        for why in names.subdomain(claim):
            yield wrong(f"{at}.name", name, f'PVC name "{claim}": {why}')
    if not name:
        yield required(f"{at}.name")
    else:
        yield from formed(name, f"{at}.name", names.label)


def _as_it_comes(_source: Stored, _at: str) -> Iterator[FieldError]:
    yield from ()


def _needs(*fields: str) -> Check:
    def check(source: Stored, at: str) -> Iterator[FieldError]:
        return present(source, at, *fields)

    return check


def _empty_directory(source: Stored, at: str) -> Iterator[FieldError]:
    limit = source.get("sizeLimit")
    if limit is not None and quantity_text.value(limit) < 0:
        yield not_allowed(f"{at}.sizeLimit", _SIZE)


def host_path(source: Stored, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with a path of the host."""
    if not source.get("path"):
        yield required(f"{at}.path")
        return
    yield from no_backsteps(source["path"], f"{at}.path")
    yield from one_of(source, at, "type", _PATH_TYPES)


def _disk(name: str) -> Check:
    def check(source: Stored, at: str) -> Iterator[FieldError]:
        yield from present(source, at, name)
        yield from in_range(source, at, "partition", _PARTITIONS)

    return check


def nfs(source: Stored, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with a share of a file server."""
    yield from present(source, at, "server", "path")
    if not source.get("path", "").startswith("/"):
        yield wrong(f"{at}.path", source.get("path", ""), "must be an absolute path")


def _keys(name: str) -> Check:
    def check(source: Stored, at: str) -> Iterator[FieldError]:
        yield from present(source, at, name)
        yield from file_mode(source, at, "defaultMode")
        yield from validate_items(source.get("items") or (), f"{at}.items")

    return check


def _downward(source: Stored, at: str) -> Iterator[FieldError]:
    yield from file_mode(source, at, "defaultMode")
    yield from validate_files(source.get("items") or (), at)


def csi_driver_name(name: str, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with the name of a CSI driver."""
    if not name:
        yield required(at)
        return
    if len(name) > 63:
        yield too_long(at, 63)
    yield from formed(name, at, lambda text: names.subdomain(text.lower()))


def _csi(source: Stored, at: str) -> Iterator[FieldError]:
    yield from csi_driver_name(source.get("driver", ""), f"{at}.driver")
    secret = source.get("nodePublishSecretRef")
    if secret is None:
        return
    if not secret.get("name"):
        yield required(f"{at}.nodePublishSecretRef.name")
    yield from formed_if_present(secret, at, "name", names.subdomain)


def _ephemeral(source: Stored, at: str) -> Iterator[FieldError]:
    template = source.get("volumeClaimTemplate")
    where = f"{at}.volumeClaimTemplate"
    if template is None:
        yield required(where)
        return
    yield from validate_template(template.get("metadata") or {}, where)
    yield from claims.validate_spec(template.get("spec") or {}, f"{where}.spec")


def _image(source: Stored, at: str) -> Iterator[FieldError]:
    yield from present(source, at, "reference")
    yield from one_of(source, at, "pullPolicy", ("Always", "IfNotPresent", "Never"))


PERSISTENT: Mapping[str, Check] = MappingProxyType(
    {
        "hostPath": host_path,
        "gcePersistentDisk": _disk("pdName"),
        "awsElasticBlockStore": _disk("volumeID"),
        "glusterfs": _needs("endpoints", "path"),
        "nfs": nfs,
        "rbd": _needs("monitors", "image"),
        "cephfs": _needs("monitors"),
        "cinder": _needs("volumeID"),
        "vsphereVolume": _needs("volumePath"),
        "photonPersistentDisk": _needs("pdID"),
        "portworxVolume": _needs("volumeID"),
    }
)
"""Sources that pods and persistent volumes have alike."""

_ORDER = (
    *("emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret"),
    *("nfs", "iscsi", "glusterfs", "flocker", "persistentVolumeClaim", "rbd", "cinder", "cephfs"),
    *("quobyte", "downwardAPI", "fc", "flexVolume", "configMap", "azureFile", "vsphereVolume"),
    *("photonPersistentDisk", "portworxVolume", "azureDisk", "storageos", "projected", "scaleIO"),
    *("csi", "ephemeral", "image"),
)
"""Sources in the order in which the API server looks for them: the first one counts."""

_SOURCES: Mapping[str, Check] = MappingProxyType(
    {
        **PERSISTENT,
        "emptyDir": _empty_directory,
        "gitRepo": _needs("repository"),
        "secret": _keys("secretName"),
        "configMap": _keys("name"),
        "persistentVolumeClaim": _needs("claimName"),
        "downwardAPI": _downward,
        "azureFile": _needs("secretName", "shareName"),
        "projected": validate_projected,
        "csi": _csi,
        "ephemeral": _ephemeral,
        "image": _image,
    }
)
_PATHS: Mapping[str, str] = MappingProxyType({"gcePersistentDisk": "persistentDisk"})
"""How refusals name a source where not by its field."""
