"""Jobs: the kernel of resumable work. A job is a document, its steps can be repeated, any process goes on with it."""
