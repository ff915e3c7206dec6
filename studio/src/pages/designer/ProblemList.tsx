import { Icon } from "@/components/Icon";
import { Words } from "@/components/Words";
import styles from "./Designer.module.css";
import { isMissing, type Problem } from "./graph/problems";

/** All that is to be mended; each leads to its module. */
export function ProblemList({ problems, onGo }: { problems: readonly Problem[]; onGo: (node: string) => void }) {
  return (
    <ul className={styles.list} data-testid="designer-problems">
      {problems.map((problem, index) => (
        <li key={index}>
          <button type="button" data-code={problem.code} data-missing={isMissing(problem) || undefined} onClick={() => problem.node !== null && onGo(problem.node)}>
            <Icon name={isMissing(problem) ? "info" : "failed"} />
            <span>
              <Words text={problem.message} />
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
