/** Writes the licences of what is installed into docs/supply-chain.md: npm run licences */
import { printLicences } from "./licences.ts";
import { writePart } from "./page-part.ts";

writePart("licences", printLicences());
