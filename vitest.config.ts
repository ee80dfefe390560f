import { fileURLToPath } from 'node:url'
import { defineConfig, type ViteUserConfig } from 'vitest/config'
import tsconfig from './tsconfig.json' with { type: 'json' }

// The library by its public names, as tsconfig.json has them.
const alias = Object.entries(tsconfig.compilerOptions.paths).map(([name, [file = '']]) => ({
  find: new RegExp(`^${name}$`),
  replacement: fileURLToPath(new URL(file, import.meta.url)),
}))

const config: ViteUserConfig = defineConfig({
  resolve: { alias },
  test: {
    include: ['{src,server,tools,test}/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    globalSetup: ['test/servers/global.ts'],
    setupFiles: process.env['PERILUNE_DRAWN'] === undefined ? [] : ['test/drawn.ts'],
    pool: 'forks',
    // Files keep to themselves: loading the library again for each of them takes a quarter of the time of all.
    isolate: false,
    // Many tests wait for servers, so two processors have room for five files.
    maxWorkers: 5,
    testTimeout: 120_000,
    hookTimeout: 30_000,
    // A busy machine takes its time: what is waited for may come late, and fails only where it never comes.
    expect: { poll: { timeout: 20_000 } },
  },
})

export default config
