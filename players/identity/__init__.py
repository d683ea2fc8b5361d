"""Identity verification (KYC): documents, review by staff, likely duplicates."""
