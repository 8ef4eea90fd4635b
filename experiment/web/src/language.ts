const rightToLeft = new Set(["ar", "arc", "ckb", "dv", "fa", "he", "ks", "nqo", "ps", "sd", "syr", "ug", "ur", "yi"]);
const rightToLeftScripts = new Set(["adlm", "arab", "hebr", "mand", "nkoo", "rohg", "syrc", "thaa"]);

/** Reading direction of a BCP 47 language tag; a script in the tag decides before the language. */
export function direction(language: string): "ltr" | "rtl" {
  const [name = "", ...rest] = language.toLowerCase().split(/[-_]/);
  const script = rest.find((part) => part.length === 4 && /^[a-z]+$/.test(part));
  return (script ? rightToLeftScripts.has(script) : rightToLeft.has(name)) ? "rtl" : "ltr";
}
