/** What Redis offers to scripts and stays harmless: all that a script may use without a module that defines it. */
export const OFFERED: ReadonlySet<string> = new Set(
  `redis string table math tonumber tostring type pairs ipairs next select unpack error pcall assert
   struct bit KEYS ARGV`.split(/\s+/),
)
