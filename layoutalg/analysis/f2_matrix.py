"""F2Matrix: matrices over GF(2), the field of two elements, on integers taken as vectors of bits.

In GF(2) addition is exclusive-or and multiplication is and. A matrix is its list of columns, each an integer whose bit
r is the entry of row r; applied to an integer x it gives the exclusive-or of the columns at which x has a 1. So column
j is the value at ``2**j``, and the values at powers of two decide all others: ``M(x ^ y) == M(x) ^ M(y)``.

Laws: ``(A @ B)(x) == A(B(x))``; M is injective exactly if its rank is its number of columns, surjective exactly if
its rank is its number of rows; the null space has as many dimensions as the columns exceed the rank.

>>> a, b = F2Matrix((1, 3, 6), 3), F2Matrix((5, 2, 4), 3)
>>> all((a @ b)(x) == a(b(x)) for x in range(8)), 2 ** a.rank() == len({a(x) for x in range(8)})
(True, True)
"""

from __future__ import annotations

from collections.abc import Iterable

from layoutalg.errors import LayoutError, NotInjectiveError
from layoutalg.frozen import fix, frozen
from layoutalg.tuples.int_tuple import safe_text
from layoutalg.tuples.leaf import as_int

#: Most rows and columns of a matrix: the bits of an offset.
MOST_BITS = 63


@frozen
class F2Matrix:
    """A matrix over GF(2): the linear function of bits whose values at 1, 2, 4, ... are its columns.

    ``matrix(x)`` applies it, ``a @ b`` is the product, ``str`` is one line a row: row 0, the lowest bit, first.

    Args:
        columns: the values at 1, 2, 4, ...: non-negative integers.
        rows: number of bits of a value. Default: the fewest that hold every column.

    Raises:
        LayoutError: if a column is negative or has more bits than ``rows``.

    >>> matrix = F2Matrix((1, 2, 4 | 1), 4)
    >>> matrix(0b110), matrix.rank(), matrix.is_injective()
    (7, 3, True)
    >>> print(matrix)
    1 . 1
    . 1 .
    . . 1
    . . .
    """

    columns: tuple[int, ...]
    rows: int

    def __init__(self, columns: Iterable[int], rows: int | None = None) -> None:
        try:
            numbers = tuple([as_int(column, "F2Matrix: a column") for column in columns])
        except TypeError:
            raise LayoutError(f"F2Matrix: columns must be a sequence, found {safe_text(columns)}") from None
        if min(numbers, default=0) < 0:
            raise LayoutError(f"F2Matrix: a column must not be negative, found {min(numbers)}")
        needed = max(numbers, default=0).bit_length()
        height = needed if rows is None else as_int(rows, "F2Matrix: rows")
        if height < needed:
            raise LayoutError(f"F2Matrix: rows must be at least {needed}, the bits of the columns, found {height}")
        if height > MOST_BITS or len(numbers) > MOST_BITS:
            raise LayoutError(f"F2Matrix: must be at most {MOST_BITS} x {MOST_BITS}, found {height} x {len(numbers)}")
        fix(self, columns=numbers, rows=height)

    @classmethod
    def identity(cls, size: int) -> F2Matrix:
        """The matrix of ``size`` rows and columns that maps every x to itself.

        >>> F2Matrix.identity(3)
        F2Matrix((1, 2, 4), 3)
        """
        return cls([1 << row for row in range(as_int(size, "F2Matrix: size"))], size)

    def __call__(self, vector: int) -> int:
        """The value at a vector: the exclusive-or of the columns at which it has a 1."""
        vector = as_int(vector, "F2Matrix: a vector")
        if vector < 0 or vector.bit_length() > len(self.columns):
            raise LayoutError(f"F2Matrix: a vector must have at most {len(self.columns)} bits, found {vector}")
        return self._times(vector)

    def _times(self, vector: int) -> int:
        result = 0
        for column in self.columns:
            if vector & 1:
                result ^= column
            vector >>= 1
        return result

    def __matmul__(self, other: F2Matrix) -> F2Matrix:
        """The product: ``(a @ b)(x) == a(b(x))``; ``b`` may have fewer rows than ``a`` columns: the rest are 0."""
        if not isinstance(other, F2Matrix):
            return NotImplemented
        if other.rows > len(self.columns):
            raise LayoutError(
                f"F2Matrix: the right factor must have at most {len(self.columns)} rows, the columns of the left one, "
                f"found {other.rows}; product = {self!r} @ {other!r}"
            )
        return F2Matrix([self._times(column) for column in other.columns], self.rows)

    def __str__(self) -> str:
        return "\n".join(" ".join("1" if c >> row & 1 else "." for c in self.columns) for row in range(self.rows))

    def transposed(self) -> F2Matrix:
        """The matrix with rows and columns exchanged.

        >>> F2Matrix((1, 3, 0), 2).transposed()
        F2Matrix((3, 2), 3)
        """
        return F2Matrix(
            [sum((c >> row & 1) << j for j, c in enumerate(self.columns)) for row in range(self.rows)],
            len(self.columns),
        )

    def row_range(self, begin: int, end: int) -> F2Matrix:
        """The rows [begin, end): the function that gives those bits of the value only.

        >>> F2Matrix((1, 2, 4, 8)).row_range(1, 3)
        F2Matrix((0, 1, 2, 0), 2)
        """
        if not 0 <= begin <= end <= self.rows:
            raise LayoutError(f"F2Matrix: rows [{begin},{end}) must lie in [0,{self.rows})")
        return F2Matrix([(column >> begin) & (1 << (end - begin)) - 1 for column in self.columns], end - begin)

    def rank(self) -> int:
        """The number of linearly independent columns: the matrix takes ``2**rank`` different values."""
        return len(_Elimination(self.columns).pivots)

    def is_injective(self) -> bool:
        """Whether different vectors have different values."""
        return self.rank() == len(self.columns)

    def is_surjective(self) -> bool:
        """Whether every value of ``rows`` bits occurs."""
        return self.rank() == self.rows

    def null_space(self) -> F2Matrix:
        """A basis of the vectors that are mapped to 0, as columns: ``m(m.null_space()(y)) == 0``.

        >>> F2Matrix((1, 2, 3)).null_space()
        F2Matrix((7,), 3)
        """
        return F2Matrix(_Elimination(self.columns).null, len(self.columns))

    def solve(self, value: int) -> int:
        """A vector x with ``matrix(x) == value``, made of the first independent columns, so that it is unique.

        Raises:
            LayoutError: if the matrix never takes that value.

        >>> F2Matrix((1, 2, 3, 4)).solve(7)
        11
        """
        rest, vector = _Elimination(self.columns).reduced(as_int(value, "F2Matrix: a value"), 0)
        if rest:
            raise LayoutError(f"F2Matrix: the matrix must take the value {value}, found it does not; matrix = {self!r}")
        return vector

    def right_inverse(self) -> F2Matrix:
        """A matrix R with ``m(R(y)) == y`` for every value y of ``rows`` bits, each y made of the first columns it can.

        Raises:
            LayoutError: if a value does not occur (the matrix is not surjective).

        >>> F2Matrix((1, 1, 2)).right_inverse()
        F2Matrix((1, 4), 3)
        """
        elimination = _Elimination(self.columns)
        if len(elimination.pivots) != self.rows:
            raise LayoutError(
                f"F2Matrix: a right inverse needs a rank of {self.rows}, the number of rows, found "
                f"{len(elimination.pivots)}; matrix = {self!r}"
            )
        return F2Matrix([elimination.reduced(1 << row, 0)[1] for row in range(self.rows)], len(self.columns))

    def left_inverse(self) -> F2Matrix:
        """A matrix L with ``L(m(x)) == x`` for every x, which looks at the lowest bits of the value that suffice.

        Raises:
            NotInjectiveError: if two vectors have one value.

        >>> F2Matrix((2, 5)).left_inverse()
        F2Matrix((2, 1, 0), 2)
        """
        if not self.is_injective():
            raise NotInjectiveError(
                f"F2Matrix: a left inverse needs a rank of {len(self.columns)}, the number of columns, found "
                f"{self.rank()}; matrix = {self!r}"
            )
        return self.transposed().right_inverse().transposed()

    def inverse(self) -> F2Matrix:
        """The matrix that undoes this one, from both sides.

        Raises:
            LayoutError: if the matrix is not square.
            NotInjectiveError: if it is, but two vectors have one value.

        >>> F2Matrix((1, 3)).inverse()
        F2Matrix((1, 3), 2)
        """
        if self.rows != len(self.columns):
            raise LayoutError(f"F2Matrix: an inverse needs a square matrix, found {self.rows} x {len(self.columns)}")
        return self.left_inverse()


class _Elimination:
    """Gaussian elimination of columns, in their order.

    Attributes:
        pivots: leading bit of a reduced column -> (that column, the columns that it is the sum of, as a vector).
        null: the vectors of columns that sum to 0, one for each column that depends on earlier ones.
    """

    def __init__(self, columns: Iterable[int]) -> None:
        self.pivots: dict[int, tuple[int, int]] = {}
        self.null: list[int] = []
        for j, column in enumerate(columns):
            rest, vector = self.reduced(column, 1 << j)
            if rest:
                self.pivots[rest.bit_length()] = (rest, vector)
            else:
                self.null.append(vector)

    def reduced(self, value: int, vector: int) -> tuple[int, int]:
        """What is left of a value after adding pivots to it, and the vector of the columns added."""
        while value:
            pivot = self.pivots.get(value.bit_length())
            if pivot is None:
                break
            value ^= pivot[0]
            vector ^= pivot[1]
        return value, vector
