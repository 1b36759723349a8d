"""Tests of the Google Cloud adapter."""
