"""Results as tables: Athena reads the Parquet files of all runs. Nothing has to keep the tables up to date."""

from typing import Final

from aws_cdk import Stack
from aws_cdk import aws_athena as athena
from aws_cdk import aws_glue as glue
from aws_cdk import aws_kms as kms
from constructs import Construct

from infra.names import Names
from plimsoll.reports.data.column_types import RUN_DATE, glue_tables
from plimsoll_service.queries import QUERIES

_FIRST_DAY: Final = "2026-01-01"
"""Before the first run of any deployment."""

_MOST_SCANNED_BYTES: Final = 100 * 2**30
"""Bytes that one query may read: years of weekly runs, for half a dollar (Athena, USD 5 a TB)."""


class ResultTables(Construct):
    """The tables of recommendations and of demand, whose partitions are the days from the first to the present one."""

    def __init__(self, scope: Construct, *, names: Names) -> None:
        super().__init__(scope, "Results")
        self.database = glue.CfnDatabase(
            self,
            "Database",
            catalog_id=names.stack.account,
            database_input=glue.CfnDatabase.DatabaseInputProperty(
                name=names.database, description="What Plimsoll found, run by run"
            ),
        )
        for table, columns in glue_tables().items():
            made = self._table(names, table, columns)
            made.add_resource_dependency(self.database)

    def _table(self, names: Names, table: str, columns: dict[str, str]) -> glue.CfnTable:
        location = f"s3://{names.bucket}/runs/{table}/"
        return glue.CfnTable(
            self,
            table.capitalize(),
            catalog_id=names.stack.account,
            database_name=names.database,
            table_input=glue.CfnTable.TableInputProperty(
                name=table,
                table_type="EXTERNAL_TABLE",
                partition_keys=[glue.CfnTable.ColumnProperty(name=RUN_DATE, type="string")],
                parameters={
                    "classification": "parquet",
                    "projection.enabled": "true",
                    f"projection.{RUN_DATE}.type": "date",
                    f"projection.{RUN_DATE}.format": "yyyy-MM-dd",
                    f"projection.{RUN_DATE}.range": f"{_FIRST_DAY},NOW",
                    f"projection.{RUN_DATE}.interval": "1",
                    f"projection.{RUN_DATE}.interval.unit": "DAYS",
                    "storage.location.template": f"{location}{RUN_DATE}=${{{RUN_DATE}}}/",
                },
                storage_descriptor=glue.CfnTable.StorageDescriptorProperty(
                    columns=[glue.CfnTable.ColumnProperty(name=name, type=kind) for name, kind in columns.items()],
                    location=location,
                    input_format="org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
                    output_format="org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat",
                    serde_info=glue.CfnTable.SerdeInfoProperty(
                        serialization_library="org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"
                    ),
                ),
            ),
        )


class Workgroup(Construct):
    """The Athena workgroup with the saved queries: its answers are encrypted, in the store, and a query is bounded."""

    def __init__(self, scope: Construct, *, names: Names, key: kms.IKey | None) -> None:
        super().__init__(scope, "Queries")
        encryption = athena.CfnWorkGroup.EncryptionConfigurationProperty(
            encryption_option="SSE_KMS" if key else "SSE_S3", kms_key=key.key_arn if key else None
        )
        group = athena.CfnWorkGroup(
            self,
            "Workgroup",
            name=names.prefix,
            description="What people ask of Plimsoll's results",
            recursive_delete_option=True,
            work_group_configuration=athena.CfnWorkGroup.WorkGroupConfigurationProperty(
                enforce_work_group_configuration=True,
                publish_cloud_watch_metrics_enabled=True,
                bytes_scanned_cutoff_per_query=_MOST_SCANNED_BYTES,
                result_configuration=athena.CfnWorkGroup.ResultConfigurationProperty(
                    output_location=f"s3://{names.bucket}/queries/",
                    encryption_configuration=encryption,
                    expected_bucket_owner=Stack.of(self).account,
                ),
            ),
        )
        for name, query in QUERIES.items():
            saved = athena.CfnNamedQuery(
                self,
                "".join(word.capitalize() for word in name.split("-")),
                name=name,
                description=query.title,
                database=names.database,
                query_string=query.sql,
                work_group=names.prefix,
            )
            saved.add_resource_dependency(group)
