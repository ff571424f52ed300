"""The lessons of the course: what stands in them, what an answer is worth, and what a student has done."""
