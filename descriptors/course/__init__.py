"""Lessons, their exercises, and who says what of an answer is wrong."""

#: The open modules of this wing, and what they give other wings. From its other modules, other wings import only the
#: public names of `descriptors`.
INTERFACE = {
    "card": "the card of the notation",
    "catalog": "the lessons on disk, and each of their exercises by its place",
    "grading": "the verdict on an answer",
    "lesson_text": "lessons as text",
    "progress": "what a student has done",
    "source": "lessons and exercises, parsed",
    "workbook": "a student's file",
}
