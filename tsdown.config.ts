import { readFileSync } from 'node:fs'
import { defineConfig, type UserConfig } from 'tsdown'
import tsconfig from './tsconfig.json' with { type: 'json' }

/** One entry for every public name in tsconfig.json: `feed` for `perilune/feed`. */
function entries(): Record<string, string> {
  const sources = Object.entries(tsconfig.compilerOptions.paths).filter(([, [file]]) => file?.endsWith('.ts'))
  return Object.fromEntries(
    sources.map(([name, [file = '']]) => [
      name === 'perilune' ? 'index' : name.replace('perilune/', ''),
      file,
    ]),
  )
}

/** The command has the parser of Lua in it: the library itself has no need of one. */
function parserNotice(): string {
  const licence = readFileSync(new URL('node_modules/luaparse/LICENSE', import.meta.url), 'utf8')
  return `/*!\nIncludes luaparse:\n\n${licence.trim()}\n*/`
}

const shared: UserConfig = {
  platform: 'node',
  target: 'node20.19',
  // What the types say is not said twice; what tells bundlers that a call is pure stays.
  outputOptions: { comments: { legal: true, annotation: true, jsdoc: false } },
}

const config: UserConfig[] = defineConfig([
  { ...shared, entry: entries(), format: 'esm', dts: { oxc: true } },
  {
    ...shared,
    entry: { cli: './tools/perilune.ts' },
    format: 'esm',
    dts: false,
    clean: false,
    footer: parserNotice(),
  },
])

export default config
