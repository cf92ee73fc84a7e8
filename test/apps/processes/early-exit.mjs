console.log("reading the settings");
console.error("DATABASE_URL is not set");
process.exit(4);
