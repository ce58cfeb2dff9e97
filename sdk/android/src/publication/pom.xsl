<?xml version="1.0" encoding="UTF-8"?>
<!-- Makes the POM that apps see of the one that builds: an AAR, without what only the build and the tests need. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
    xmlns:m="http://maven.apache.org/POM/4.0.0" xmlns="http://maven.apache.org/POM/4.0.0"
    exclude-result-prefixes="m">
  <xsl:output indent="yes"/>
  <xsl:strip-space elements="*"/>
  <xsl:template match="@*|node()"><xsl:copy><xsl:apply-templates select="@*|node()"/></xsl:copy></xsl:template>
  <xsl:template match="comment()|m:project/m:properties|m:build|m:profiles|m:dependency[m:scope]"/>
  <xsl:template match="m:project/m:version"><xsl:copy-of select="."/><packaging>aar</packaging></xsl:template>
  <xsl:template match="m:dependency/m:version/text()[. = '${kotlin.stdlib.version}']">
    <xsl:value-of select="/m:project/m:properties/m:kotlin.stdlib.version"/>
  </xsl:template>
</xsl:stylesheet>
