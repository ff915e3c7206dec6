import type { Endpoint } from "@/api/types";
import { Card } from "@/components/Card";
import { CopyButton } from "@/components/CopyButton";
import { Tabs } from "@/components/Tabs";
import { useSearch } from "@/router/location";
import styles from "./Endpoints.module.css";
import { snippets } from "./endpoints";

/** How to ask it from elsewhere. */
export function ConsumeCard({ endpoint }: { endpoint: Endpoint }) {
  const [search, change] = useSearch();
  const { curl, python, sdk } = snippets(endpoint);
  const tab = (id: string, label: string, text: string) => ({ id, label, content: () => <Snippet text={text} label={label} /> });
  return (
    <Card title="Ask it from elsewhere" testId="endpoint-consume">
      <Tabs
        label="Languages"
        selected={search.get("by") ?? "curl"}
        onSelect={(by) => change({ by: by === "curl" ? null : by })}
        tabs={[tab("curl", "curl", curl), tab("python", "Python", python), tab("sdk", "SDK", sdk), tab("cli", "rookery", `rookery predict ${endpoint.name} picture.jpg`)]}
      />
      {(endpoint.auth_enabled || endpoint.token_auth_enabled) && (
        <p className={styles.about}>
          {endpoint.auth_enabled ? (
            <>
              <code>KEY</code> is one of its keys.
            </>
          ) : (
            <>
              <code>KEY</code> is a token: <code>rookery endpoints token {endpoint.name}</code>
            </>
          )}
        </p>
      )}
    </Card>
  );
}

function Snippet({ text, label }: { text: string; label: string }) {
  return (
    <div className={styles.snippet}>
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} label={`Copy: ${label}`} />
    </div>
  );
}
