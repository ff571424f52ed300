"""The definitions of the operations, checked by enumeration without the algorithms of the algebra."""
