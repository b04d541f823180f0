"""What writes the pages of docs/, from stored records and from the lessons."""
