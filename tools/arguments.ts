// Arguments of the programs that developers run by hand.

import { type ParseArgsConfig, parseArgs } from 'node:util'

/** As `parseArgs`; one that is not known, `--help` too, ends the program with its usage. */
export function readArguments<const Config extends ParseArgsConfig>(
  usage: string,
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config)
  } catch (error) {
    return explain(usage, error instanceof Error ? error.message : String(error))
  }
}

/** Ends the program. */
export function explain(usage: string, problem: string): never {
  console.error(`${problem}\nusage: ${usage}`)
  process.exit(2)
}
