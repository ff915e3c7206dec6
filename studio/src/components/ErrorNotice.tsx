import { toApiError } from "@/api/errors";
import { Button } from "./Button";
import { Icon } from "./Icon";
import styles from "./ErrorNotice.module.css";
import { Words } from "./Words";

interface Props {
  error: unknown;
  /** Asks again. */
  onRetry?: () => void;
  title?: string;
}

/** What went wrong, in the keeper's words, with what to do and what to quote when asking for help. */
export function ErrorNotice({ error, onRetry, title }: Props) {
  const told = toApiError(error);
  return (
    <div className={styles.notice} role="alert" data-testid="error">
      <Icon name={told.isAway ? "waiting" : "failed"} />
      <div>
        {title && <h2>{title}</h2>}
        <p>
          <Words text={told.message} />
        </p>
        <p className={styles.small}>
          <code>{told.code}</code>
          {told.status > 0 && ` · status ${told.status}`}
          {told.requestId && ` · request ${told.requestId}`}
        </p>
      </div>
      {onRetry && (
        <Button icon="again" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
