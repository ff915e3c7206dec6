import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "virtual:tokens.css";
import "./theme/base.css";
import { startLive } from "@/api/live";
import { makeQueryClient, watchForLogout } from "@/api/query";
import { followMlflowLinks } from "@/router/mlflow";
import { App } from "@/shell/App";

const client = makeQueryClient();
watchForLogout(client);
startLive(client);
followMlflowLinks();
createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);
