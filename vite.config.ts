import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  root: "renderer",
  base: "/",
  plugins: [react(), tailwindcss()],
  build: { outDir: "../dist/renderer", emptyOutDir: true, target: "chrome114", chunkSizeWarningLimit: 4000 },
  worker: { format: "es" },
});
