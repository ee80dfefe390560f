import { readdirSync, readFileSync } from 'node:fs'
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

/** The command has the parser of Lua in it, and a client and tables for the doctor: the library needs none of them. */
const BUNDLED = {
  cli: ['luaparse'],
  doctor: [
    'ioredis',
    '@ioredis/commands',
    'cluster-key-slot',
    'debug',
    'denque',
    'ms',
    'redis-errors',
    'standard-as-callback',
    'cli-table3',
    'string-width',
    'strip-ansi',
    'ansi-regex',
    'emoji-regex',
    'is-fullwidth-code-point',
  ],
}

/** Packages with the same licence text share it. */
function notice(packages: readonly string[]): string {
  const licences = packages.map((name) => ({ name, text: licenceOf(name) }))
  const texts = [...new Set(licences.map(({ text }) => text))]
  const parts = texts.map((text) => {
    const names = licences.filter((each) => each.text === text).map(({ name }) => name)
    return `Includes ${names.join(', ')}:\n\n${text}`
  })
  return `/*!\n${parts.join('\n\n').replaceAll('*/', '* /')}\n*/`
}

function licenceOf(name: string): string {
  const folder = new URL(`node_modules/${name}/`, import.meta.url)
  const file = readdirSync(folder).find((each) => /^licen[cs]e(-mit)?(\.(txt|md))?$/i.test(each))
  if (file === undefined) throw new Error(`${name} has no licence file`)
  return readFileSync(new URL(file, folder), 'utf8').trim()
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
    // `npx perilune doctor` runs in an empty folder.
    // The two that are left out are optional to packages that try to load them.
    deps: {
      neverBundle: [/^@colors\//, 'supports-color'],
      alwaysBundle: BUNDLED.doctor,
      onlyBundle: [...BUNDLED.cli, ...BUNDLED.doctor],
    },
    minify: true,
    outputOptions: {
      ...shared.outputOptions,
      footer: ({ name }) => notice(name === 'cli' ? BUNDLED.cli : BUNDLED.doctor),
    },
  },
])

export default config
