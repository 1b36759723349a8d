"""The deployed service over AWS's own services, and the places of each cloud that it audits."""
