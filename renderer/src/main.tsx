import "@fontsource-variable/inter/wght.css";
import "@fontsource/jetbrains-mono/400.css";
import "@fontsource/jetbrains-mono/600.css";
import "./styles/index.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { startConnection } from "./service/connection.ts";
import { startLive } from "./service/live.ts";
import { startAppearance } from "./state/appearance.ts";
import { startLocation } from "./state/location.ts";
import { startPersistence } from "./state/persistence.ts";

startAppearance();
startConnection();
void startPersistence().then(startLocation);
void startLive();

const root = document.getElementById("root");
if (root === null) throw new Error("the page has no root element");
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
