"""The class ``F2Matrix``: matrices over GF(2), the field of two elements, applied to the bits of integers.

In GF(2), addition is xor and multiplication is and. A matrix is a list of columns, each an integer whose bit r is the
entry of row r. The matrix maps an integer x to the xor of the columns j for which bit j of x is 1. Therefore, column j
is the value at ``2**j``, and the values at powers of two determine all others: ``M(x ^ y) == M(x) ^ M(y)``.

Invariant: ``(A @ B)(x) == A(B(x))``. M is injective exactly if its rank is the number of columns, and surjective
exactly if its rank is the number of rows. The dimension of the null space is the number of columns minus the rank.

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

#: The most rows and columns of a matrix, which is the number of bits of an offset.
MOST_BITS = 63


@frozen
class F2Matrix:
    """A matrix over GF(2), which is the linear function of bits whose values at 1, 2, 4, ... are its columns.

    ``matrix(x)`` applies it, and ``a @ b`` is the product. ``str`` has one line per row, row 0 (the lowest bit) first.

    Args:
        columns: the values at 1, 2, 4, ..., which are non-negative integers.
        rows: number of bits of a value. Default: the number of bits of the largest column.

    Raises:
        LayoutError: if a column is negative or has more bits than ``rows``, or there are more than 63 rows or columns.

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
            raise LayoutError(f"F2Matrix: columns is {safe_text(columns)}, which is not a sequence") from None
        if min(numbers, default=0) < 0:
            raise LayoutError(f"F2Matrix: column {min(numbers)} is negative")
        needed = max(numbers, default=0).bit_length()
        height = needed if rows is None else as_int(rows, "F2Matrix: rows")
        if height < needed:
            raise LayoutError(f"F2Matrix: rows is {height}, but a column has {needed} bits")
        if height > MOST_BITS or len(numbers) > MOST_BITS:
            raise LayoutError(f"F2Matrix: {height} x {len(numbers)} is larger than {MOST_BITS} x {MOST_BITS}")
        fix(self, columns=numbers, rows=height)

    @classmethod
    def identity(cls, size: int) -> F2Matrix:
        """Return the matrix of ``size`` rows and columns that maps every x to itself.

        >>> F2Matrix.identity(3)
        F2Matrix((1, 2, 4), 3)
        """
        return cls([1 << row for row in range(as_int(size, "F2Matrix: size"))], size)

    def __call__(self, vector: int) -> int:
        """Return the value at a vector, which is the xor of the columns at which the vector has a 1.

        Raises:
            LayoutError: if the vector is negative or has more bits than the matrix has columns.
        """
        vector = as_int(vector, "F2Matrix: a vector")
        if vector < 0 or vector.bit_length() > len(self.columns):
            raise LayoutError(f"F2Matrix: vector {vector} is not a number of {len(self.columns)} bits")
        return self._times(vector)

    def _times(self, vector: int) -> int:
        result = 0
        for column in self.columns:
            if vector & 1:
                result ^= column
            vector >>= 1
        return result

    def __matmul__(self, other: F2Matrix) -> F2Matrix:
        """Return the product: ``(a @ b)(x) == a(b(x))``.

        ``b`` may have fewer rows than ``a`` has columns; the other bits are 0.

        Raises:
            LayoutError: if ``b`` has more rows than ``a`` has columns.
        """
        if not isinstance(other, F2Matrix):
            return NotImplemented
        if other.rows > len(self.columns):
            raise LayoutError(
                f"F2Matrix: the right factor has {other.rows} rows, more than the left factor has columns "
                f"({len(self.columns)}); product = {self!r} @ {other!r}"
            )
        return F2Matrix([self._times(column) for column in other.columns], self.rows)

    def __str__(self) -> str:
        return "\n".join(" ".join("1" if c >> row & 1 else "." for c in self.columns) for row in range(self.rows))

    def transposed(self) -> F2Matrix:
        """Return the matrix with rows and columns exchanged.

        >>> F2Matrix((1, 3, 0), 2).transposed()
        F2Matrix((3, 2), 3)
        """
        return F2Matrix(
            [sum((c >> row & 1) << j for j, c in enumerate(self.columns)) for row in range(self.rows)],
            len(self.columns),
        )

    def row_range(self, begin: int, end: int) -> F2Matrix:
        """Return the rows [begin, end), which is the function to these bits of the value.

        Raises:
            LayoutError: if there are no such rows.

        >>> F2Matrix((1, 2, 4, 8)).row_range(1, 3)
        F2Matrix((0, 1, 2, 0), 2)
        """
        if not 0 <= begin <= end <= self.rows:
            raise LayoutError(f"F2Matrix: rows [{begin},{end}) are not in [0,{self.rows})")
        return F2Matrix([(column >> begin) & (1 << (end - begin)) - 1 for column in self.columns], end - begin)

    def rank(self) -> int:
        """Return the number of linearly independent columns; the matrix has ``2**rank`` different values."""
        return len(_Elimination(self.columns).pivots)

    def is_injective(self) -> bool:
        """Check if different vectors have different values."""
        return self.rank() == len(self.columns)

    def is_surjective(self) -> bool:
        """Check if every value of ``rows`` bits occurs."""
        return self.rank() == self.rows

    def null_space(self) -> F2Matrix:
        """Return a basis of the vectors that are mapped to 0, as columns: ``m(m.null_space()(y)) == 0``.

        >>> F2Matrix((1, 2, 3)).null_space()
        F2Matrix((7,), 3)
        """
        return F2Matrix(_Elimination(self.columns).null, len(self.columns))

    def solve(self, value: int) -> int:
        """Return the vector x with ``matrix(x) == value`` that uses only columns independent of the ones before them.

        Raises:
            LayoutError: if the matrix does not have that value.

        >>> F2Matrix((1, 2, 3, 4)).solve(7)
        11
        """
        rest, vector = _Elimination(self.columns).reduce(as_int(value, "F2Matrix: a value"), 0)
        if rest:
            raise LayoutError(f"F2Matrix: no vector has the value {value}; matrix = {self!r}")
        return vector

    def right_inverse(self) -> F2Matrix:
        """Return a matrix R with ``m(R(y)) == y`` for every value y of ``rows`` bits.

        ``R(y)`` uses only columns that are independent of the ones before them.

        Raises:
            LayoutError: if the matrix is not surjective.

        >>> F2Matrix((1, 1, 2)).right_inverse()
        F2Matrix((1, 4), 3)
        """
        elimination = _Elimination(self.columns)
        if len(elimination.pivots) != self.rows:
            raise LayoutError(
                f"F2Matrix: the matrix has no right inverse, because its rank is {len(elimination.pivots)} and it has "
                f"{self.rows} rows; matrix = {self!r}"
            )
        return F2Matrix([elimination.reduce(1 << row, 0)[1] for row in range(self.rows)], len(self.columns))

    def left_inverse(self) -> F2Matrix:
        """Return a matrix L with ``L(m(x)) == x`` for every x, which uses the lowest bits of the value that suffice.

        Raises:
            NotInjectiveError: if two vectors have the same value.

        >>> F2Matrix((2, 5)).left_inverse()
        F2Matrix((2, 1, 0), 2)
        """
        if not self.is_injective():
            raise NotInjectiveError(
                f"F2Matrix: the matrix has no left inverse, because its rank is {self.rank()} and it has "
                f"{len(self.columns)} columns; matrix = {self!r}"
            )
        return self.transposed().right_inverse().transposed()

    def inverse(self) -> F2Matrix:
        """Return the matrix that is both the left and the right inverse.

        Raises:
            LayoutError: if the matrix is not square.
            NotInjectiveError: if the matrix is square, but two vectors have the same value.

        >>> F2Matrix((1, 3)).inverse()
        F2Matrix((1, 3), 2)
        """
        if self.rows != len(self.columns):
            raise LayoutError(
                f"F2Matrix: the matrix has no inverse, because it is not square ({self.rows} x {len(self.columns)})"
            )
        return self.left_inverse()


class _Elimination:
    """Gaussian elimination of columns, in their order.

    Attributes:
        pivots: for the leading bit of each reduced column, that column, and the vector of the columns whose sum it is.
        null: the vectors of columns whose sum is 0, one for each column that depends on earlier ones.
    """

    def __init__(self, columns: Iterable[int]) -> None:
        self.pivots: dict[int, tuple[int, int]] = {}
        self.null: list[int] = []
        for j, column in enumerate(columns):
            rest, vector = self.reduce(column, 1 << j)
            if rest:
                self.pivots[rest.bit_length()] = (rest, vector)
            else:
                self.null.append(vector)

    def reduce(self, value: int, vector: int) -> tuple[int, int]:
        """Add pivots to a value; return the rest, and ``vector`` with the columns that were added."""
        while value:
            pivot = self.pivots.get(value.bit_length())
            if pivot is None:
                break
            value ^= pivot[0]
            vector ^= pivot[1]
        return value, vector
