"""What services refuse besides access, by error code, and what to do about each."""

from typing import Final

REMEDIES: Final = {
    "VolumeLimitExceeded": "Delete volumes that nobody needs, or ask for a higher EBS quota in Service Quotas",
    "MaxIOPSLimitExceeded": "Ask for a higher EBS quota of provisioned IOPS in Service Quotas",
    "InsufficientVolumeCapacity": "AWS has no room for it in this zone now: try later, or validate in another zone",
    "VolumeTypeNotAvailableInZone": "Choose a target of another type, or validate in another zone",
    "InvalidZone.NotFound": "Check the zone's name, and that it is enabled in the account",
    "InvalidParameterValue": "Choose a target within the published limits of its type",
    "InvalidParameterCombination": "Choose a target within the published limits of its type",
    "IdempotentParameterMismatch": "Another volume was made under this validation's name: start a new validation",
    "InvalidVolume.NotFound": "It was deleted meanwhile: start a new validation",
    "InvalidVolume.ZoneMismatch": "Name a bench host in the volume's zone with --bench-host",
    "IncorrectState": "It is not in a state that allows this: wait, and run again",
    "VolumeInUse": "It is attached: wait until it is detached, and run again",
    "IncorrectInstanceState": "Start the instance, or name another with --bench-host",
    "InvalidInstanceID.NotFound": "Name an instance that exists with --bench-host",
    "InvalidInstanceID.Malformed": "Name an instance that exists with --bench-host",
    "AttachmentLimitExceeded": "Detach volumes from the instance, or name another with --bench-host",
    "UnsupportedOperation": "AWS does not do this with such a volume or instance: name another bench host or target",
    "InvalidDocument": "Run again; if it stays so, delete the document in Systems Manager, Documents",
    "InvalidDocumentVersion": "Run again; if it stays so, delete the document in Systems Manager, Documents",
    "InvalidDocumentContent": "This version of Plimsoll brings a document that AWS does not take: update Plimsoll",
    "DocumentLimitExceeded": "Delete documents that nobody needs in Systems Manager, Documents",
    "DocumentVersionLimitExceeded": "Delete the document in Systems Manager, Documents: it is made anew",
    "InvalidInstanceId": (
        "Its SSM agent does not take commands: start the agent, give the instance a profile with "
        "AmazonSSMManagedInstanceCore, or name another with --bench-host"
    ),
    "InvalidParameters": "The document in Systems Manager is not this version's: delete it there, and run again",
    "InvalidOutputFolder": "Check the name of the bucket for results",
    "UnsupportedPlatformType": "Name a Linux instance with --bench-host",
    "NoSuchBucket": "Check the name of the bucket",
    "ResourceNotFoundException": "Check its name, and deploy the service again where it was deleted",
    "StateMachineDoesNotExist": "Deploy the service again",
    "AWSOrganizationsNotInUseException": "This account is in no Organization: name the accounts with --account",
    "ParentNotFoundException": "Check the unit's id (ou-... or r-...) in AWS Organizations, or leave it out",
}
"""Codes are those of the services' API references (EC2 "Error codes", Systems Manager "SendCommand", "CreateDocument"
and "UpdateDocument", S3 "Error responses", read 2026-11-20; DynamoDB "BatchWriteItem", EventBridge "PutEvents", Step
Functions "ListExecutions" and Organizations "ListAccountsForParent", read 2026-11-21)."""
