import { writeFileSync } from 'node:fs';
import { renderLifecyclePage } from './lifecycle-page.ts';

// Run from the root of the repository: npm run docs:lifecycle
writeFileSync('docs/lifecycle.md', renderLifecyclePage());
