"""Papers of the course: labs, quizzes and examinations drawn by seed, and the marks of what is handed in."""
