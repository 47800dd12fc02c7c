"""MALeViC (Pezzelle & Fernández 2019): its tables and figures."""
