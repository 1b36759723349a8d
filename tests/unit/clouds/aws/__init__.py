"""Tests of the AWS adapter."""
