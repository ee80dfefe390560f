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

/** The copyright lines of each package, and each text of a licence once. */
function notice(packages: readonly string[]): string {
  const licences = packages.map((name) => ({ name, ...partsOf(licenceOf(name)) }))
  const kinds = [...new Set(licences.map(({ kind }) => kind))]
  const parts = kinds.flatMap((kind) => {
    const own = licences.filter((each) => each.kind === kind)
    if (own.length === 1) return own.map(({ name, whole }) => `Includes ${name}:\n\n${whole}`)
    const owners = own.map(({ name, copyright }) => `Includes ${name}: ${copyright}`)
    return [[...owners, '', own[0]?.permission].join('\n')]
  })
  return `/*!\n${parts.join('\n\n').replaceAll('*/', '* /')}\n*/`
}

/** `kind` is the permission without what differs in spelling only. */
function partsOf(whole: string): { whole: string; copyright: string; permission: string; kind: string } {
  const start = Math.max(0, whole.indexOf('Permission is hereby granted'))
  const permission = whole.slice(start)
  const copyright =
    whole
      .match(/^.*copyright \(c\).*$/gim)
      ?.join('; ')
      .replaceAll(/\s+/g, ' ')
      .trim() ?? ''
  return { whole, copyright, permission, kind: permission.replaceAll(/[\s"'*]+/g, ' ').toLowerCase() }
}

function licenceOf(name: string): string {
  const folder = new URL(`node_modules/${name}/`, import.meta.url)
  const file = readdirSync(folder).find((each) => /^licen[cs]e(-mit)?(\.(txt|md))?$/i.test(each))
  if (file === undefined) throw new Error(`${name} has no licence file`)
  return readFileSync(new URL(file, folder), 'utf8').trim()
}

// What the types say is not said twice; what tells bundlers that a call is pure stays.
const COMMENTS = { legal: true, annotation: true, jsdoc: false }

const shared: UserConfig = {
  platform: 'node',
  target: 'node20.19',
  outputOptions: { comments: COMMENTS },
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
      comments: COMMENTS,
      footer: ({ name }) =>
        name === 'cli' ? notice(BUNDLED.cli) : name === 'command' ? notice(BUNDLED.doctor) : '',
    },
  },
])

export default config
