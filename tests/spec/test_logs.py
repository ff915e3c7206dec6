from rookery.spec.logs import canonical_log_name, driver_log_name, newer_log_name


class TestLogNames:
    def test_both_runtimes_names_lead_to_the_same_log(self):
        for world, rank in ((1, 0), (4, 0), (4, 3), (12, 11)):
            name = driver_log_name(rank, world)
            assert canonical_log_name(newer_log_name(name)) == name == canonical_log_name(name)

    def test_padded_process_numbers_are_understood(self):
        assert canonical_log_name("user_logs/std_log_process_03.txt") == "azureml-logs/70_driver_log_3.txt"

    def test_other_names_stay(self):
        assert canonical_log_name("logs/a.txt") == newer_log_name("logs/a.txt") == "logs/a.txt"
