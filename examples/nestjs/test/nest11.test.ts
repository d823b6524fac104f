import { scenario } from "./scenario.js";

scenario("11, as CommonJS", "nest11/dist");
