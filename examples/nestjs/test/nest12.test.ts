import { scenario } from "./scenario.js";

scenario("12, as ES modules", "dist/src");
