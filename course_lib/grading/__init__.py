"""Where the first edition kept what is now `course_grading`; see `cli`."""
