import { logOut, useMe } from "@/api/session";
import { Menu } from "@/components/Menu";
import { toastError } from "@/components/toasts";
import styles from "./Foot.module.css";

/** Who is logged in. */
export function Account({ isSmall }: { isSmall: boolean }) {
  const me = useMe();
  const name = me.data?.name ?? "…";
  return (
    <span className={styles.who}>
      <Menu label={isSmall ? `Logged in as ${name}` : name} icon="person" isIconOnly={isSmall} align="left" isUp items={[{ label: "Log out", icon: "logout", run: () => void logOut().catch(toastError) }]} />
    </span>
  );
}
