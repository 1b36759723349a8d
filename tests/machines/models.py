"""The models of AWS's services: importing this reads them once into what the sessions of all environments share."""

from typing import Final

import boto3

from plimsoll.clouds.aws.sessions import _models

SERVICES: Final = ("cloudwatch", "dynamodb", "ec2", "events", "pricing", "s3", "ssm", "stepfunctions", "sts")
DATA: Final = ("_retry", "endpoints", "partitions", "sdk-default-configuration")

boto3.setup_default_session()
for loader in (_models(), boto3.DEFAULT_SESSION._loader):
    for name in DATA:
        loader.load_data(name)
    for service in SERVICES:
        for kind in ("service-2", "endpoint-rule-set-1"):
            loader.load_service_model(service, kind)
