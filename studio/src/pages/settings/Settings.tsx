import { useQuery } from "@tanstack/react-query";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import { logOut, useMay, useMe } from "@/api/session";
import { Button } from "@/components/Button";
import { Card, Facts } from "@/components/Card";
import { ErrorNotice } from "@/components/ErrorNotice";
import { formatBytes, formatTime } from "@/components/format";
import { Skeleton } from "@/components/Skeleton";
import { Tabs } from "@/components/Tabs";
import { toastError } from "@/components/toasts";
import { useSearch } from "@/router/location";
import { AuditTab } from "./AuditTab";
import { LookTab } from "./LookTab";
import { PasswordCard } from "./PasswordCard";
import { ROLE_WORDS, type Role } from "./people";
import styles from "./Settings.module.css";
import { TokensTab } from "./TokensTab";
import { UsersTab } from "./UsersTab";

/** Who I am, how it looks, tokens; for owners users and who did what. */
export default function Settings() {
  const [search, change] = useSearch();
  const isOwner = useMay("owner");
  return (
    <>
      <h1>Settings</h1>
      <Tabs
        label="Settings"
        selected={search.get("tab") ?? "account"}
        onSelect={(tab) => change({ tab: tab === "account" ? null : tab })}
        tabs={[
          { id: "account", label: "Account", content: () => <Account /> },
          { id: "look", label: "Look and time", content: () => <LookTab /> },
          { id: "tokens", label: "Tokens", content: () => <TokensTab /> },
          ...(isOwner
            ? [
                { id: "users", label: "Users", content: () => <UsersTab /> },
                { id: "audit", label: "Who did what", content: () => <AuditTab /> },
              ]
            : []),
        ]}
      />
    </>
  );
}

function Account() {
  const me = useMe();
  const workspace = useQuery({ queryKey: keys.workspace, queryFn: ({ signal }) => call("get_workspace", { signal }) });
  const hello = useQuery({ queryKey: keys.hello, queryFn: ({ signal }) => call("hello", { signal }) });
  if (me.isPending) return <Skeleton lines={5} />;
  if (!me.data) return <ErrorNotice error={me.error} onRetry={() => void me.refetch()} />;
  const role = me.data.role as Role | null;
  return (
    <div className={styles.narrow}>
      <Card
        title="You"
        testId="settings-account"
        actions={
          <Button variant="quiet" icon="logout" onClick={() => void logOut().catch(toastError)}>
            Log out
          </Button>
        }
      >
        <Facts
          facts={[
            ["Name", me.data.name],
            ["Role", role ? `${role}, ${ROLE_WORDS[role] ?? ""}` : "none"],
            ...(me.data.kind === "user" ? [] : [["Logged in", "as the one whose machine this is; users of a server have names and passwords"] as const]),
          ]}
        />
      </Card>
      {me.data.kind === "user" && <PasswordCard />}
      <Card title="Workspace" testId="settings-workspace">
        {workspace.data ? (
          <Facts
            facts={[
              ["Name", workspace.data.name],
              ["Made", formatTime(workspace.data.created_utc)],
              ["On disk", formatBytes(workspace.data.disk_bytes)],
              ...(workspace.data.description ? [["Description", workspace.data.description] as const] : []),
              ...(hello.data ? [["Rookery", `version ${hello.data.version}, on ${hello.data.hostname}`] as const] : []),
            ]}
          />
        ) : workspace.error ? (
          <ErrorNotice error={workspace.error} onRetry={() => void workspace.refetch()} />
        ) : (
          <Skeleton lines={3} />
        )}
      </Card>
    </div>
  );
}
