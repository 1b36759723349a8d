from tests.builders import a_host, a_spec, a_volume


def test_a_spec_reads_as_it_would_be_said():
    assert str(a_spec("gp2", 1000)) == "gp2 1,000 GiB"
    assert str(a_spec("gp3", 500, iops=16_000, throughput_mib_s=1000)) == "gp3 500 GiB 16,000 IOPS 1,000 MiB/s"
    assert str(a_spec("io2", 500, iops=100)) == "io2 500 GiB 100 IOPS"


def test_a_volume_is_called_by_its_name_tag():
    assert a_volume(tags={"Name": "db"}).name == "db"
    assert a_volume().name is None


def test_a_volume_boots_a_host_when_one_of_its_attachments_does():
    assert a_volume(boot=True).boot
    assert not a_volume().boot
    assert not a_volume(on=[]).boot


def test_hosts_that_the_cloud_hides_are_attachments_but_not_hosts():
    hidden = a_volume(on=[a_host(), None])
    assert len(hidden.attachments) == 2
    assert hidden.hosts == (a_host(),)
