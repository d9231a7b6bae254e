"""What is wrong with a text that is no JSON, in the words of Go's parser.

Apart from decoding because only refused texts are read this slowly, and because the wording is a
subject of its own. Law: a text that is JSON has nothing wrong.
"""

_END = "unexpected end of JSON input"
_SPACE = b" \t\r\n"
_DIGITS = b"0123456789"
_HEX = b"0123456789abcdefABCDEF"
_ESCAPES = b'bfnrt\\/"'
_DEEPEST = 10000
_WORDS = {ord(word[:1]): word for word in (b"true", b"false", b"null")}


class _Wrong(Exception):
    """Carries what is wrong."""


def problem_of(text: bytes) -> str:
    """Return what is wrong with a JSON text, empty for nothing."""
    try:
        _Reader(text).read()
    except _Wrong as wrong:
        return str(wrong)
    return ""


class _Reader:
    """Reads a text from front to back, and remembers what it is inside of."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._at = 0
        self._inside: list[int] = []
        """The brackets that are open."""

    def read(self) -> None:
        """Read the whole text; raises `_Wrong`."""
        self._value()
        while self._inside:
            if self._goes_on():
                self._value()
        self._space()
        if self._at < len(self._text):
            raise self._unexpected("after top-level value")

    def _goes_on(self) -> bool:
        """Go on to the next value of what is open; tell whether there is one."""
        self._space()
        byte = self._peek()
        closing = {ord("{"): ord("}"), ord("["): ord("]")}[self._inside[-1]]
        if byte == closing:
            self._at += 1
            self._inside.pop()
            return False
        where = "object key:value pair" if closing == ord("}") else "array element"
        if byte != ord(","):
            raise self._unexpected(f"after {where}")
        self._at += 1
        if closing == ord("}"):
            self._key()
        return True

    def _value(self) -> None:
        """Read a value, of a container up to its first scalar."""
        while True:
            self._space()
            byte = self._peek()
            if byte not in b"{[":
                break
            self._open(byte)
            if self._is_empty(byte):
                return
            if byte == ord("{"):
                self._key()
        self._scalar(byte)

    def _open(self, byte: int) -> None:
        self._at += 1
        self._inside.append(byte)
        if len(self._inside) > _DEEPEST:
            raise _Wrong("exceeded max depth")

    def _is_empty(self, byte: int) -> bool:
        self._space()
        if self._peek() != (ord("}") if byte == ord("{") else ord("]")):
            return False
        self._at += 1
        self._inside.pop()
        return True

    def _key(self) -> None:
        self._space()
        if self._peek() != ord('"'):
            raise self._unexpected("looking for beginning of object key string")
        self._string()
        self._space()
        if self._peek() != ord(":"):
            raise self._unexpected("after object key")
        self._at += 1

    def _scalar(self, byte: int) -> None:
        if byte == ord('"'):
            self._string()
        elif byte in _DIGITS + b"-":
            self._number()
        elif byte in _WORDS:
            self._word(_WORDS[byte])
        else:
            raise self._unexpected("looking for beginning of value")

    def _word(self, word: bytes) -> None:
        for expected in word:
            byte = self._peek_in_word()
            if byte != expected:
                where = f"in literal {word.decode()} (expecting {_quoted(expected)})"
                raise self._unexpected(where, byte)
            self._at += 1

    def _string(self) -> None:
        self._at += 1
        while (byte := self._peek()) != ord('"'):
            if byte < 0x20:
                raise self._unexpected("in string literal")
            self._at += 1
            if byte == ord("\\"):
                self._escape()
        self._at += 1

    def _escape(self) -> None:
        byte = self._peek_in_word()
        if byte == ord("u"):
            self._at += 1
            for _ in range(4):
                if self._peek_in_word() not in _HEX:
                    where = "in \\u hexadecimal character escape"
                    raise self._unexpected(where, self._peek_in_word())
                self._at += 1
        elif byte in _ESCAPES:
            self._at += 1
        else:
            raise self._unexpected("in string escape code", byte)

    def _number(self) -> None:
        if self._peek() == ord("-"):
            self._at += 1
            self._require_digit("in numeric literal")
        if self._peek() == ord("0"):
            self._at += 1
        else:
            self._digits()
        if self._is_at(b"."):
            self._at += 1
            self._require_digit("after decimal point in numeric literal")
            self._digits()
        if self._is_at(b"eE"):
            self._at += 1
            if self._is_at(b"+-"):
                self._at += 1
            self._require_digit("in exponent of numeric literal")
            self._digits()

    def _require_digit(self, where: str) -> None:
        if self._peek_in_word() not in _DIGITS:
            raise self._unexpected(where, self._peek_in_word())

    def _digits(self) -> None:
        while self._is_at(_DIGITS):
            self._at += 1

    def _is_at(self, choices: bytes) -> bool:
        return self._at < len(self._text) and self._text[self._at] in choices

    def _space(self) -> None:
        while self._is_at(_SPACE):
            self._at += 1

    def _peek(self) -> int:
        if self._at >= len(self._text):
            raise _Wrong(_END)
        return self._text[self._at]

    def _peek_in_word(self) -> int:
        """Return the next byte; Go ends a text with a space, which no word may contain."""
        return self._text[self._at] if self._at < len(self._text) else ord(" ")

    def _unexpected(self, where: str, byte: int | None = None) -> _Wrong:
        found = self._peek() if byte is None else byte
        return _Wrong(f"invalid character {_quoted(found)} {where}")


def _quoted(byte: int) -> str:
    """Return a byte as Go quotes a character."""
    named = {
        ord("'"): "\\'",
        ord("\\"): "\\\\",
        7: "\\a",
        8: "\\b",
        9: "\\t",
        10: "\\n",
        11: "\\v",
        12: "\\f",
        13: "\\r",
    }
    if byte in named:
        return f"'{named[byte]}'"
    if byte < 0x20 or byte == 0x7F:
        return f"'\\x{byte:02x}'"
    return f"'\\u{byte:04x}'" if 0x80 <= byte < 0xA1 or byte == 0xAD else f"'{chr(byte)}'"
