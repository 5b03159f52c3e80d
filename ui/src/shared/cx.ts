/** The names of classes in one text; what does not apply is left out. */
export const cx = (...names: (string | false | null | undefined)[]): string => names.filter(Boolean).join(" ");
