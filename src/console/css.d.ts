// Style sheets are imported for their effect: Vite puts them into one file.
declare module '*.css';
