import { useQuery } from "@tanstack/react-query";
import { ReactFlowProvider } from "@xyflow/react";
import { toApiError } from "@/api/errors";
import { Card } from "@/components/Card";
import { EmptyState } from "@/components/EmptyState";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Skeleton } from "@/components/Skeleton";
import type { PageProps } from "@/registry";
import { Link } from "@/router/Link";
import { draftKeys, getDraft, useCatalog } from "./asks";
import { Editor } from "./Editor";

/** A draft, open on the canvas. */
export default function DraftPage({ params }: PageProps) {
  const id = params.id ?? "";
  // Asked once: from then on the page has the newest, and saves it.
  const asked = useQuery({ queryKey: draftKeys.one(id), queryFn: ({ signal }) => getDraft(id, signal), staleTime: Infinity, gcTime: 0, refetchOnWindowFocus: false, refetchOnMount: "always" });
  const cards = useCatalog().asked; // where what lies nowhere goes depends on the ports
  if (asked.data && !cards.isPending) {
    return (
      <ReactFlowProvider>
        <Editor key={id} draft={asked.data} />
      </ReactFlowProvider>
    );
  }
  if (asked.isPending || asked.data) return <Skeleton lines={8} />;
  if (toApiError(asked.error).isNotFound) {
    return (
      <Card>
        <h1 className="unseen">Draft</h1>
        <EmptyState icon="designer" title="There is no such draft">
          <p>
            It may have been deleted. <Link to="/designer">All drafts</Link>
          </p>
        </EmptyState>
      </Card>
    );
  }
  return (
    <>
      <h1 className="unseen">Draft</h1>
      <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />
    </>
  );
}
