import "@fontsource-variable/inter/wght.css";
import "@fontsource/jetbrains-mono/400.css";
import "@fontsource/jetbrains-mono/600.css";
import "./styles/index.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { z } from "zod";
import { startAnnouncing } from "./actions/announce.ts";
import { App } from "./app.tsx";
import { startConnection } from "./service/connection.ts";
import { startLive } from "./service/live.ts";
import { startAppearance } from "./state/appearance.ts";
import { startLocation } from "./state/location.ts";
import { startPersistence } from "./state/persistence.ts";

// The content policy forbids code from strings, which zod would try for speed.
z.config({ jitless: true });
startAppearance();
startConnection();
void startPersistence().then(startLocation);
void startLive();
startAnnouncing();

const root = document.getElementById("root");
if (root === null) throw new Error("the page has no root element");
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
