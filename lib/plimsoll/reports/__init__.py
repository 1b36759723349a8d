"""How recommendations reach people: terminal tables and files."""
