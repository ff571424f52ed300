"""What must an operation's result satisfy? The definitions, by enumeration, with no algorithm of the algebra."""
