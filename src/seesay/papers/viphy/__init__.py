"""ViPhy (Singh, Qasemi & Chen 2023): its tables and figures."""
