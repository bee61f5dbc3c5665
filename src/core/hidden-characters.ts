/**
 * A character that nobody sees, or that moves what stands around it: control and format characters, among them the marks
 * that turn the direction of writing; unassigned and private ones; what is drawn as nothing; line and paragraph separators.
 * Whoever shows what a model wrote shows these as their numbers.
 */
export const HIDDEN_CHARACTER: RegExp = /[\p{C}\p{DI}\p{Zl}\p{Zp}]/u;
