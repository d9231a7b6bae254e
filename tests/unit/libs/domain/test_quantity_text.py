import pytest

from libs.domain import quantity_text


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        ("1.5Gi", "1536Mi"),
        ("0.1", "100m"),
        ("1000m", "1"),
        ("1024", "1024"),
        ("1023Ki", "1023Ki"),
        ("0.5Ki", "512"),
        ("2000", "2k"),
        ("1e3", "1e3"),
        ("-1", "-1"),
        ("0Gi", "0"),
        (".5", "500m"),
        ("1.2345678901", "1234567891n"),
    ],
)
def test_quantities_have_one_spelling(text: str, spelling: str) -> None:
    assert quantity_text.canonical(text) == spelling
    assert quantity_text.canonical(spelling) == spelling


@pytest.mark.parametrize("text", ["", "x", "1x", "1 Gi", "--1", "1e", "1KiB", "0x10"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(quantity_text.MalformedQuantity):
        quantity_text.canonical(text)
