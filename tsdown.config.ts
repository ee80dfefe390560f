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

const config: UserConfig = defineConfig({
  entry: entries(),
  format: ['esm', 'cjs'],
  platform: 'node',
  target: 'node20.19',
  dts: { oxc: true },
})

export default config
