"""What does a teacher hold in hand: slides, a card of the notation, a page on how to teach, the first steps."""
