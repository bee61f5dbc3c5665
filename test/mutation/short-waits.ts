/** A test that waits for what a mutant never does has failed, and soon: here nothing takes as long as it may elsewhere. */
import { vi } from "vitest";

const { setConfig } = vi;
vi.setConfig = ({ testTimeout: _, hookTimeout: __, ...config }) => setConfig(config);
