"""Datastore: finding and registering places for data. `Datastore(ws, name)` gives one of the classes of `datastore_kinds`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from rookery.errors import UnsupportedError, UserError
from rookery.sdk.datastore_kinds import AbstractStorageDatastore, make_datastore
from rookery.worker.http import quote_path

if TYPE_CHECKING:
    from rookery.sdk.workspace import Workspace

__all__ = ["Datastore"]


class Datastore:
    """A factory, as v1's: what it gives is an AzureBlobDatastore or one of its relatives."""

    def __new__(cls, workspace: Workspace, name: Optional[str] = None) -> Any:
        return cls.get_default(workspace) if name is None else cls.get(workspace, name)

    @staticmethod
    def get(workspace: Workspace, datastore_name: str) -> AbstractStorageDatastore:
        """The datastore of this name; DatastoreNotFoundError lists the known ones."""
        if not isinstance(datastore_name, str):
            raise UserError(f"datastore_name is {type(datastore_name).__name__}. Give its name.")
        return make_datastore(workspace, workspace.client.request("GET", f"/datastores/{quote_path(datastore_name)}"))

    @staticmethod
    def get_default(workspace: Workspace) -> AbstractStorageDatastore:
        found = workspace.client.request("GET", "/datastores")["datastores"]
        return make_datastore(workspace, next(each for each in found if each["is_default"]))

    @staticmethod
    def register_folder(
        workspace: Workspace,
        datastore_name: str,
        folder: str,
        overwrite: bool = False,
        follow_links: bool = False,
        skip_validation: bool = False,
    ) -> AbstractStorageDatastore:
        """A folder of the keeper's machine. Not of v1."""
        spec = {"folder": folder, "follow_links": follow_links}
        return _register(workspace, datastore_name, "folder", spec, {}, overwrite, skip_validation)

    @staticmethod
    def register_s3(
        workspace: Workspace,
        datastore_name: str,
        bucket: str,
        access_key: Optional[str] = None,
        secret_key: Optional[str] = None,
        session_token: Optional[str] = None,
        endpoint: Optional[str] = None,
        region: Optional[str] = None,
        prefix: Optional[str] = None,
        anonymous: bool = False,
        overwrite: bool = False,
        skip_validation: bool = False,
    ) -> AbstractStorageDatastore:
        """A bucket of S3, or of a server that speaks it (`endpoint`). Not of v1."""
        spec = {"bucket": bucket, "endpoint": endpoint, "region": region, "prefix": prefix, "anonymous": anonymous}
        credentials = {"key": access_key, "secret": secret_key, "token": session_token}
        return _register(workspace, datastore_name, "s3", spec, credentials, overwrite, skip_validation)

    @staticmethod
    def register_gcs(
        workspace: Workspace,
        datastore_name: str,
        bucket: str,
        token: Optional[str] = None,
        project: Optional[str] = None,
        prefix: Optional[str] = None,
        endpoint: Optional[str] = None,
        anonymous: bool = False,
        overwrite: bool = False,
        skip_validation: bool = False,
    ) -> AbstractStorageDatastore:
        """A bucket of Google Cloud Storage; `token` is the JSON of a service account. Not of v1."""
        spec = {"bucket": bucket, "project": project, "prefix": prefix, "endpoint": endpoint, "anonymous": anonymous}
        return _register(workspace, datastore_name, "gcs", spec, {"token": token}, overwrite, skip_validation)

    @staticmethod
    def register_http(
        workspace: Workspace,
        datastore_name: str,
        url: str,
        headers: Optional[dict[str, str]] = None,
        query: Optional[str] = None,
        username: Optional[str] = None,
        password: Optional[str] = None,
        overwrite: bool = False,
        skip_validation: bool = False,
    ) -> AbstractStorageDatastore:
        """A web server, which is only read. Not of v1."""
        credentials = {"headers": headers, "query": query, "username": username, "password": password}
        return _register(workspace, datastore_name, "http", {"url": url}, credentials, overwrite, skip_validation)

    @staticmethod
    def register_azure_blob_container(
        workspace: Workspace,
        datastore_name: str,
        container_name: str,
        account_name: str,
        sas_token: Optional[str] = None,
        account_key: Optional[str] = None,
        protocol: Optional[str] = None,
        endpoint: Optional[str] = None,
        overwrite: bool = False,
        create_if_not_exists: bool = False,
        skip_validation: bool = False,
        blob_cache_timeout: Any = None,
        grant_workspace_access: bool = False,
        subscription_id: Any = None,
        resource_group: Any = None,
    ) -> AbstractStorageDatastore:
        anonymous = not sas_token and not account_key
        spec = {"account": account_name, "container": container_name, "endpoint": endpoint, "anonymous": anonymous}
        credentials = {"account_key": account_key, "sas_token": sas_token}
        facts = {"type": "AzureBlob", "protocol": protocol or "https"}
        return _register(workspace, datastore_name, "azure", spec, credentials, overwrite, skip_validation, facts)

    @staticmethod
    def register_azure_file_share(
        workspace: Workspace, datastore_name: str, file_share_name: str, account_name: str, *args: Any, **kwargs: Any
    ) -> Any:
        raise _not_here("Azure file shares", "Mount the share and register the folder: Datastore.register_folder")

    @staticmethod
    def register_azure_data_lake(workspace: Workspace, datastore_name: str, *args: Any, **kwargs: Any) -> Any:
        raise _not_here("Azure Data Lake Gen1", "It has ended; register its successor as a blob container")

    @staticmethod
    def register_azure_data_lake_gen2(
        workspace: Workspace,
        datastore_name: str,
        filesystem: str,
        account_name: str,
        tenant_id: Optional[str] = None,
        client_id: Optional[str] = None,
        client_secret: Optional[str] = None,
        resource_url: Any = None,
        authority_url: Any = None,
        protocol: Any = None,
        endpoint: Optional[str] = None,
        overwrite: bool = False,
        subscription_id: Any = None,
        resource_group: Any = None,
        grant_workspace_access: bool = False,
        skip_validation: bool = False,
    ) -> AbstractStorageDatastore:
        spec = {"account": account_name, "container": filesystem, "endpoint": endpoint}
        credentials = {"tenant_id": tenant_id, "client_id": client_id, "client_secret": client_secret}
        facts = {"type": "AzureDataLakeGen2"}
        return _register(workspace, datastore_name, "azure", spec, credentials, overwrite, skip_validation, facts)

    @staticmethod
    def register_azure_sql_database(workspace: Workspace, datastore_name: str, *args: Any, **kwargs: Any) -> Any:
        raise _not_here("SQL databases", "Export the table to Parquet files")

    register_azure_postgre_sql = register_azure_sql_database
    register_azure_my_sql = register_azure_sql_database

    @staticmethod
    def register_dbfs(workspace: Workspace, datastore_name: str) -> Any:
        raise _not_here("Databricks' files", "Register a folder or an object store")

    @staticmethod
    def register_hdfs(workspace: Workspace, datastore_name: str, *args: Any, **kwargs: Any) -> Any:
        raise _not_here("HDFS", "Register a folder or an object store")


def _register(
    workspace: Workspace,
    name: str,
    kind: str,
    spec: dict[str, Any],
    credentials: dict[str, Any],
    overwrite: bool,
    skip_validation: bool,
    facts: Optional[dict[str, Any]] = None,
) -> AbstractStorageDatastore:
    body = {
        "name": name,
        "kind": kind,
        "spec": {k: v for k, v in {**spec, "facts": facts}.items() if v not in (None, "", False)},
        "credentials": {k: v for k, v in credentials.items() if v},
        "overwrite": bool(overwrite),
        "check": not skip_validation,
    }
    return make_datastore(workspace, workspace.client.request("POST", "/datastores", body=body))


def _not_here(what: str, instead: str) -> UnsupportedError:
    return UnsupportedError(f"Rookery does not read {what}. {instead}.")
