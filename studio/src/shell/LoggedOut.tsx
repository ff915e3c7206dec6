import { useState, type MouseEvent } from "react";
import { loginUrl, useLoggedOut } from "@/api/session";
import { Icon } from "@/components/Icon";
import styles from "./LoggedOut.module.css";
import { LoginDialog } from "./LoginDialog";

/** Said above the page, which stays as it is: nothing is lost by logging in again. */
export function LoggedOut() {
  const isLoggedOut = useLoggedOut();
  const [isAsking, setAsking] = useState(false);
  if (!isLoggedOut) return null;
  const ask = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    setAsking(true);
  };
  return (
    <>
      <div className={styles.banner} role="alert" data-testid="logged-out">
        <Icon name="key" />
        <p>
          You are not logged in any more.{" "}
          <a href={loginUrl()} onClick={ask}>
            Log in again
          </a>
          , or type <code>rookery studio</code> on the machine of this workspace.
        </p>
      </div>
      {isAsking && <LoginDialog onClose={() => setAsking(false)} />}
    </>
  );
}
